package report

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// chromium runs a headless browser on a page at a width in pixels and returns what it prints.
func chromium(t *testing.T, page string, width int, options ...string) []byte {
	t.Helper()
	program := referee(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
		"--user-data-dir=" + t.TempDir(), fmt.Sprintf("--window-size=%d,2000", width)}, options...)
	command := exec.Command(program, append(args, "file://"+page)...)
	command.WaitDelay = time.Minute
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, complaints.String())
	}
	return out.Bytes()
}

// write puts a page into a folder of this test.
func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func screenshot(t *testing.T, page string, options ...string) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shot.png")
	chromium(t, page, 1000, append(options, "--screenshot="+file)...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("chromium made no screenshot: %v", err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// share of the pixels of a colour, in thousandths.
func share(img image.Image, rgb uint32) int {
	return colours(img)[rgb] * 1000 / (img.Bounds().Dx() * img.Bounds().Dy())
}

// colours counts the pixels of each colour, as 0xRRGGBB.
func colours(img image.Image) map[uint32]int {
	pixels := image.NewRGBA(img.Bounds())
	draw.Draw(pixels, img.Bounds(), img, img.Bounds().Min, draw.Src)
	found := map[uint32]int{}
	last, run := uint32(0), 0
	for i := 0; i < len(pixels.Pix); i += 4 {
		if rgb := uint32(pixels.Pix[i])<<16 | uint32(pixels.Pix[i+1])<<8 | uint32(pixels.Pix[i+2]); rgb != last {
			found[last] += run
			last, run = rgb, 0
		}
		run++
	}
	found[last] += run
	return found
}

// TestPagesInABrowser looks at the pages of an experiment and of a comparison by day and by night.
func TestPagesInABrowser(t *testing.T) {
	for _, name := range []string{"experiment.html", "comparison.html"} {
		page := write(t, name, exportsOf(t)[name])
		day := screenshot(t, page)
		if paper, bars, curve := share(day, 0xfffffe), share(day, 0x0b62a4), share(day, 0xd6e6f3); paper < 600 || bars < 3 || curve < 20 {
			t.Errorf("%s by day: %d paper, %d bars, %d curve in a thousand", name, paper, bars, curve)
		}
		if name != "experiment.html" {
			continue
		}
		night := screenshot(t, page, "--blink-settings=preferredColorScheme=0")
		if paper, bars, white := share(night, 0x14191f), share(night, 0x5aa9e6), share(night, 0xfffffe); paper < 600 || bars < 3 || white > 0 {
			t.Errorf("%s by night: %d paper, %d bars, %d white in a thousand", name, paper, bars, white)
		}
	}
}

// layoutProbe reports, into the page's title: how far the page is wider than the window, texts of drawings that leave
// their drawing, and pairs of texts that overlap.
const layoutProbe = `<script>
addEventListener("load", () => {
  const bad = [];
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) bad.push("page wider by " + over);
  let texts = 0;
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const boxes = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    texts += boxes.length;
    boxes.forEach(([s, a], i) => {
      if (a.left < frame.left - 1.5 || a.right > frame.right + 1.5 || a.top < frame.top - 1.5 || a.bottom > frame.bottom + 1.5) bad.push("outside: " + s);
      boxes.slice(i + 1).forEach(([z, b]) => {
        const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (w > 1 && h > 0.35 * Math.min(a.height, b.height)) bad.push("overlap: " + s + " / " + z);
      });
    });
  }
  document.title = "texts " + texts + "; " + bad.join("; ");
});
</script>`

var titleOf = regexp.MustCompile(`(?s)<title>(.*?)</title>`)

// TestNothingOverlaps asks the browser where texts of drawings stand, on a desk, on a phone and with the fonts of this
// system, which need not be those of the layout.
func TestNothingOverlaps(t *testing.T) {
	for _, name := range []string{"experiment.html", "comparison.html", "records.html"} {
		page := string(exportsOf(t)[name])
		for _, rule := range []string{"http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\""} {
			if !strings.Contains(page, rule) {
				t.Fatalf("%s has lost its policy", name)
			}
			page = strings.Replace(page, rule, "", 1) // it forbids the probe, as it should
		}
		file := write(t, name, []byte(strings.Replace(page, "</body>", layoutProbe+"</body>", 1)))
		widths := []int{1000, 500}
		if name != "experiment.html" { // which has all kinds of drawings
			widths = widths[:1]
		}
		for _, width := range widths {
			found := titleOf.FindSubmatch(chromium(t, file, width, "--dump-dom"))
			if found == nil {
				t.Fatalf("%s: chromium printed no page", name)
			}
			result := html.UnescapeString(string(found[1]))
			if !strings.HasPrefix(result, "texts ") || strings.HasPrefix(result, "texts 0") || !strings.HasSuffix(result, "; ") {
				t.Errorf("%s at %d pixels: %s", name, width, result)
			}
		}
	}
}

// TestPagesNeedNothing checks that a page refers to nothing outside itself and runs nothing.
func TestPagesNeedNothing(t *testing.T) {
	for _, name := range []string{"record.html", "records.html", "comparison.html", "experiment.html"} {
		page := strings.ReplaceAll(string(exportsOf(t)[name]), `xmlns="http://www.w3.org/2000/svg"`, "")
		for _, bad := range []string{"http:", "https:", "//", "src=", "href", "url(", "@import", "<script", "onload", "<link", "<iframe"} {
			if i := strings.Index(page, bad); i >= 0 {
				t.Errorf("%s holds %q: ...%s...", name, bad, page[max(0, i-40):min(len(page), i+60)])
			}
		}
		for _, need := range []string{"Window", "Cache", "Sync", "Order", "Rounds", "Machine", "Versions"} {
			if !strings.Contains(page, "<dt>"+need+"</dt>") {
				t.Errorf("%s does not state the %s of its method", name, need)
			}
		}
	}
}
