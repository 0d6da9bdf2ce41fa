//go:build probe

package window

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
)

// The probe tells a script what the window shows and where, so that it can aim a real mouse at a button by the button's name. It
// is only in programs built with the tag probe, and only there if ProbeVariable names a socket. It changes nothing: what is done
// to the window is done by events of the display.

// ProbeVariable is the variable of the environment that names the socket.
const ProbeVariable = "COFFER_WINDOW_PROBE"

func init() {
	path := os.Getenv(ProbeVariable)
	if path == "" {
		return
	}
	_ = os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintf(os.Stderr, "probe: listen at %s: %v\n", path, err)
		os.Exit(2)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go answerProbe(connection)
		}
	}()
}

// answerProbe answers every line of a connection with a line of JSON.
func answerProbe(connection net.Conn) {
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	to := json.NewEncoder(connection)
	for lines.Scan() {
		question, argument, _ := strings.Cut(lines.Text(), " ")
		answer, known := probes[question]
		if !known {
			answer = func(string) any { return map[string]string{"error": "unknown question " + question} }
		}
		if to.Encode(answer(argument)) != nil {
			return
		}
	}
}

// probes are the questions that can be asked.
var probes = map[string]func(argument string) any{
	"widgets": func(string) any {
		var views []view
		looked := make(chan struct{})
		idle.post(func() {
			for _, w := range fyne.CurrentApp().Driver().AllWindows() {
				views = append(views, look(w))
			}
			close(looked)
		})
		<-looked
		return views
	},
}

// view is what a window shows.
type view struct {
	Title  string  `json:"title"`
	Width  float32 `json:"width"`
	Height float32 `json:"height"`
	Scale  float32 `json:"scale"`
	Layers int     `json:"layers"` // 1 and one for each dialog or menu over it: only the last one gets events
	Items  []item  `json:"items"`
}

// item is a visible object, with the part of it that is not scrolled away, in pixels of the window.
type item struct {
	Layer    int    `json:"layer"`
	Kind     string `json:"kind"`
	Text     string `json:"text,omitempty"`
	Hint     string `json:"hint,omitempty"` // what an empty field asks for
	Icon     string `json:"icon,omitempty"`
	Checked  bool   `json:"checked,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
	Focused  bool   `json:"focused,omitempty"`
	Secret   bool   `json:"secret,omitempty"` // a password: its text is not told
	Value    any    `json:"value,omitempty"`  // of a slider or a progress bar
	X        int    `json:"x"`
	Y        int    `json:"y"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
}

// look walks through all that a window shows.
func look(w fyne.Window) view {
	c := w.Canvas()
	v := view{Title: w.Title(), Width: c.Size().Width, Height: c.Size().Height, Scale: c.Scale()}
	layers := append([]fyne.CanvasObject{c.Content()}, c.Overlays().List()...)
	v.Layers = len(layers)
	for layer, root := range layers {
		walker := walker{canvas: c, layer: layer, to: &v.Items}
		walker.walk(root, fyne.Position{}, area{0, 0, v.Width, v.Height})
	}
	return v
}

// area is a rectangle by its corners.
type area struct{ left, top, right, bottom float32 }

func (a area) cut(b area) area {
	return area{max(a.left, b.left), max(a.top, b.top), min(a.right, b.right), min(a.bottom, b.bottom)}
}

func (a area) empty() bool { return a.right-a.left < 1 || a.bottom-a.top < 1 }

type walker struct {
	canvas   fyne.Canvas
	layer    int
	disabled bool // what is in a widget that is
	to       *[]item
}

// walk tells of an object and what is in it; clip is what can be seen.
func (w walker) walk(o fyne.CanvasObject, offset fyne.Position, clip area) {
	if o == nil || !o.Visible() {
		return
	}
	at := offset.Add(o.Position())
	size := o.Size()
	if size.IsZero() { // a text that was only moved is drawn all the same
		size = o.MinSize()
	}
	own := clip.cut(area{at.X, at.Y, at.X + size.Width, at.Y + size.Height})
	if own.empty() && !plain(o) {
		return
	}
	if it, tells := describe(o); tells && !own.empty() {
		it.Disabled = it.Disabled || w.disabled
		scale := w.canvas.Scale()
		it.Layer = w.layer
		it.X, it.Y = int(own.left*scale), int(own.top*scale)
		it.Width, it.Height = int((own.right-own.left)*scale), int((own.bottom-own.top)*scale)
		focused := w.canvas.Focused()
		it.Focused = focused != nil && any(focused) == any(o)
		*w.to = append(*w.to, it)
	}
	if _, scrolls := o.(*container.Scroll); scrolls {
		clip = own
	}
	if d, can := o.(fyne.Disableable); can {
		w.disabled = w.disabled || d.Disabled()
	}
	for _, child := range children(o) {
		w.walk(child, at, clip)
	}
}

// plain says whether an object only holds others, which may lie outside of it.
func plain(o fyne.CanvasObject) bool {
	_, is := o.(*fyne.Container)
	return is
}

// children are what is in an object; nothing where its own text tells it all. What is typed into a field is never looked at.
func children(o fyne.CanvasObject) []fyne.CanvasObject {
	if f, has := field(o, "ActionItem"); has {
		if action, is := f.Interface().(fyne.CanvasObject); is && action != nil {
			return []fyne.CanvasObject{action}
		}
		return nil
	}
	switch o := o.(type) {
	case *fyne.Container:
		return o.Objects
	case fyne.Widget:
		if _, told := words(o); !told {
			return test.WidgetRenderer(o).Objects()
		}
	}
	return nil
}

// words is the text of a widget that has one.
func words(o any) (text string, has bool) {
	for _, name := range []string{"Text", "Selected", "Label", "Segments"} {
		f, is := field(o, name)
		switch {
		case !is:
		case name == "Segments":
			if rich, can := o.(fmt.Stringer); can {
				return rich.String(), true
			}
		case f.Kind() == reflect.String && (text == "" || f.String() != ""):
			text, has = f.String(), true
		}
	}
	return text, has
}

// describe says what an object is; containers and bare shapes are not worth telling.
func describe(o fyne.CanvasObject) (item, bool) {
	kind := strings.TrimPrefix(reflect.TypeOf(o).String(), "*")
	it := item{Kind: kind}
	if d, can := o.(fyne.Disableable); can {
		it.Disabled = d.Disabled()
	}
	if f, has := field(o, "Password"); has && f.Kind() == reflect.Bool {
		it.Secret = f.Bool()
	}
	if !it.Secret {
		it.Text, _ = words(o)
	}
	if f, has := field(o, "PlaceHolder"); has && f.Kind() == reflect.String {
		it.Hint = f.String()
	}
	if f, has := field(o, "Checked"); has && f.Kind() == reflect.Bool {
		it.Checked = f.Bool()
	}
	if f, has := field(o, "Value"); has && f.Kind() == reflect.Float64 {
		it.Value = f.Float()
	}
	for _, name := range []string{"Icon", "Resource"} {
		if f, has := field(o, name); has && f.CanInterface() {
			if r, is := f.Interface().(fyne.Resource); is && r != nil {
				it.Icon = r.Name()
			}
		}
	}
	if len(it.Text) > 4000 {
		it.Text = it.Text[:4000]
	}
	_, is := o.(fyne.Widget)
	return it, is || it.Text != ""
}

// field is an exported field of a struct behind a pointer, also one of a struct embedded in it.
func field(o any, name string) (f reflect.Value, has bool) {
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	defer func() {
		if recover() != nil { // embedded by a pointer that is nil
			f, has = reflect.Value{}, false
		}
	}()
	f = v.Elem().FieldByName(name)
	return f, f.IsValid() && f.CanInterface()
}
