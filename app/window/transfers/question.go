package transfers

import (
	"context"
	"slices"

	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"fyne.io/fyne/v2"

	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// questions is the dialog in which a person answers what a job asks before it writes anything: one answer a kind, for all files.
type questions struct {
	job     Job
	dialog  *dialog.CustomDialog
	choices []*widget.RadioGroup
	ok      *ui.KeyButton
}

// questionText is what is asked.
func questionText(q protocol.Question) string {
	switch q.Kind {
	case protocol.QuestionExists:
		return text.N(q.Files, "1 file is there already. What shall be done with it?", "%d files are there already. What shall be done with them?")
	case protocol.QuestionTooBig:
		return text.N(q.Files, "1 file is larger than 4 GB, which the drive cannot hold in one piece.", "%d files are larger than 4 GB, which the drive cannot hold in one piece.")
	}
	return text.N(q.Files, "1 file needs a decision.", "%d files need a decision.")
}

// answerText is an answer in words.
func answerText(kind, answer string) string {
	switch kind + " " + answer {
	case protocol.QuestionExists + " " + protocol.ExistingReplace:
		return text.T("Replace what is there")
	case protocol.QuestionExists + " " + protocol.ExistingNewer:
		return text.T("Replace only what is older")
	case protocol.QuestionExists + " " + protocol.ExistingSkip:
		return text.T("Keep what is there")
	case protocol.QuestionTooBig + " split":
		return text.T("Cut into parts, which are joined again on the way out")
	case protocol.QuestionTooBig + " skip":
		return text.T("Leave out")
	}
	return ui.Clean(answer)
}

// safest is the answer that is chosen at first: it loses nothing.
func safest(q protocol.Question) string {
	for _, one := range []string{"split", protocol.ExistingSkip} {
		if slices.Contains(q.Answers, one) {
			return one
		}
	}
	if len(q.Answers) > 0 {
		return q.Answers[0]
	}
	return ""
}

// showQuestions shows the dialog. closed is called when it goes, answered or not: the job waits and can be answered later.
func showQuestions(s *Screen, j Job, closed func()) *questions {
	q := &questions{job: j}
	w := s.deps.Shell.Window()
	keys := &ui.Keys{}
	body := container.NewVBox(ui.Paragraph(text.T("Before anything is written to %s:", j.To())))
	for _, one := range j.Questions {
		body.Add(q.section(one))
	}
	q.ok = keys.NewPrimary(text.T("Go on"), func() {
		answers := q.answers()
		q.dialog.Hide()
		s.queue.do(func(ctx context.Context) error {
			_, err := s.deps.Backend.Jobs.AnswerJob(ctx, j.Container, protocol.JobAnswer{ID: j.ID, Answers: answers})
			return err
		})
	})
	later := keys.NewButton(text.T("Decide later"), func() { q.dialog.Hide() })
	stop := keys.NewButton(text.T("Do not copy"), func() {
		q.dialog.Hide()
		s.queue.do(func(ctx context.Context) error {
			_, err := s.deps.Backend.Jobs.CancelJob(ctx, j.Container, j.ID)
			return err
		})
	})
	keys.Enter, keys.Escape = func() { q.ok.Tapped(nil) }, func() { q.dialog.Hide() }
	q.dialog = dialog.NewCustomWithoutButtons(text.T("Copy %s", Title(j.Copy)), body, w)
	q.dialog.SetButtons([]fyne.CanvasObject{stop, later, q.ok})
	detach := keys.Attach(w.Canvas())
	q.dialog.SetOnClosed(func() {
		detach()
		closed()
	})
	q.dialog.Resize(fyne.NewSize(540, 0))
	q.dialog.Show()
	w.Canvas().Focus(q.ok)
	return q
}

// section is one question: what was found, examples, and the answers.
func (q *questions) section(one protocol.Question) fyne.CanvasObject {
	head := ui.Paragraph(questionText(one))
	head.TextStyle.Bold = true
	examples := ""
	for _, name := range one.Examples {
		examples += "• " + ui.Clean(name) + "\n"
	}
	if more := one.Files - int64(len(one.Examples)); more > 0 && len(one.Examples) > 0 {
		examples += text.N(more, "and 1 more", "and %d more") + "\n"
	}
	box := container.NewVBox(head)
	if examples != "" {
		names := ui.Caption(examples[:len(examples)-1])
		names.Truncation = fyne.TextTruncateEllipsis
		box.Add(names)
	}
	var words []string
	for _, a := range one.Answers {
		words = append(words, answerText(one.Kind, a))
	}
	choice := widget.NewRadioGroup(words, nil)
	choice.Required = true
	choice.SetSelected(answerText(one.Kind, safest(one)))
	q.choices = append(q.choices, choice)
	box.Add(choice)
	return box
}

// answers are what the person has chosen, by kind.
func (q *questions) answers() map[string]string {
	answers := map[string]string{}
	for i, one := range q.job.Questions {
		for _, a := range one.Answers {
			if answerText(one.Kind, a) == q.choices[i].Selected {
				answers[one.Kind] = a
			}
		}
	}
	return answers
}
