package create

import (
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
	"golang.org/x/text/encoding/charmap"

	"coffer/app/client"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// options are what few people need to choose. Zero values are the defaults.
type options struct {
	cipher      int // index of ciphers
	cost        int // index of costs
	cluster     int // index of clusters
	label       string
	preallocate bool
}

// What can be chosen; the first is the default.
var (
	ciphers  = []string{"", "aes-128-xts"}
	costs    = []time.Duration{0, 200 * time.Millisecond, 3 * time.Second, 10 * time.Second}
	clusters = []int64{0, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10}
)

func cipherNames() []string {
	return []string{text.T("AES-256 (recommended)"), text.T("AES-128, a little faster")}
}

func costNames() []string {
	return []string{text.T("As in the settings, about a second"), text.T("A fifth of a second: only with a very strong password"), text.T("Three seconds"), text.T("Ten seconds")}
}

func clusterNames() []string {
	names := []string{text.T("By size (recommended)")}
	for _, bytes := range clusters[1:] {
		names = append(names, text.T("%d KiB", bytes>>10))
	}
	return names
}

// into puts the options into a request.
func (o *options) into(r *client.CreateRequest) {
	r.Cipher, r.KDFTime, r.ClusterBytes = ciphers[o.cipher], costs[o.cost], clusters[o.cluster]
	r.Label, r.Preallocate = strings.TrimRight(o.label, " "), o.preallocate
}

// maxLabel is how many characters the label of a FAT volume has.
const maxLabel = 11

// wrongLabel says why a volume cannot have a label; "" if it can.
func wrongLabel(label string) string {
	label = strings.TrimRight(label, " ")
	if utf8.RuneCountInString(label) > maxLabel {
		return text.T("At most %d characters.", maxLabel)
	}
	if strings.HasPrefix(label, " ") {
		return text.T("It cannot begin with a blank.")
	}
	for _, r := range strings.ToUpper(label) {
		if c, ok := charmap.CodePage437.EncodeRune(r); !ok || c < 0x20 || c == 0x7f || strings.ContainsRune(`"*+,./:;<=>?[\]|`, r) {
			return text.T("It cannot have “%s” in it.", ui.Clean(string(r)))
		}
	}
	return ""
}

// showMore shows the options in a dialog of their own.
func (w *wizard) showMore() {
	o := w.more
	body := container.NewVBox()
	p := ui.NewPanel(w.d.Shell.Window(), text.T("More options"), 560, body)
	form := container.New(&formLayout{})
	add := func(name string, field fyne.CanvasObject) {
		form.Add(widget.NewLabel(name))
		form.Add(field)
	}
	choice := func(options []string, chosen *int) *ui.KeySelect {
		s := p.Keys.NewSelect(options, nil)
		s.SetSelectedIndex(*chosen)
		s.OnChanged = func(string) { *chosen = s.SelectedIndex() }
		return s
	}
	message := ui.NewMessage()
	label := p.Keys.NewEntry()
	label.SetText(o.label)
	label.SetPlaceHolder(text.T("None"))
	label.OnChanged = func(typed string) {
		o.label = typed
		message.Say(widget.DangerImportance, wrongLabel(typed))
		p.Fit()
	}
	add(text.T("Format"), widget.NewLabel(text.T("LUKS2, which Linux opens too")))
	add(text.T("Encryption"), choice(cipherNames(), &o.cipher))
	add(text.T("Checking a password takes"), choice(costNames(), &o.cost))
	add(text.T("Label of the drive"), label)
	add(text.T("Cluster size"), choice(clusterNames(), &o.cluster))
	whole := p.Keys.NewCheck(text.T("Take the whole space on the disk now"), func(on bool) { o.preallocate = on })
	whole.SetChecked(o.preallocate)
	add("", whole)
	body.Objects = []fyne.CanvasObject{form, message, ui.Space(1, 8)}
	done := func() {
		if wrong := wrongLabel(o.label); wrong != "" {
			p.Focus(label)
			return
		}
		w.more = o
		p.Close()
	}
	p.Keys.Enter, p.Keys.Escape = done, p.Close
	p.SetButtons(p.Keys.NewButton(text.T("Cancel"), p.Close), p.Keys.NewPrimary(text.T("OK"), done))
	p.Show()
	p.Focus(label)
}

// formLayout puts names at the left of fields.
type formLayout struct{}

// MinSize implements fyne.Layout.
func (f *formLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	var fields float32
	for i := 0; i+1 < len(o); i += 2 {
		name, field := o[i].MinSize(), o[i+1].MinSize()
		size.Width, fields = max(size.Width, name.Width), max(fields, field.Width)
		size.Height += max(name.Height, field.Height) + formGap
	}
	return fyne.NewSize(size.Width+formGap+fields, size.Height)
}

const formGap = 6

// Layout implements fyne.Layout.
func (f *formLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	var names, y float32
	for i := 0; i+1 < len(o); i += 2 {
		names = max(names, o[i].MinSize().Width)
	}
	for i := 0; i+1 < len(o); i += 2 {
		height := max(o[i].MinSize().Height, o[i+1].MinSize().Height)
		o[i].Move(fyne.NewPos(0, y))
		o[i].Resize(fyne.NewSize(names, height))
		o[i+1].Move(fyne.NewPos(names+formGap, y))
		o[i+1].Resize(fyne.NewSize(size.Width-names-formGap, height))
		y += height + formGap
	}
}
