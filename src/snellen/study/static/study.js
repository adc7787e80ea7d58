"use strict";
/* What pages gain from a script: answers by key, the time from the picture to the answer by the
   page's own clock, and how many frames the browser left out meanwhile. All works without. */
(() => {
  document.documentElement.classList.add("scripted");
  // A page from the browser's memory may be an old one.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  for (const form of document.querySelectorAll("form[data-once]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) { event.preventDefault(); return; }
      form.dataset.sent = "yes";
    });
  }

  const form = document.querySelector("form[data-timed]");
  if (!form) return;
  const picture = document.getElementById("asked");
  let shown = null, last = null, frame = Infinity, dropped = 0;

  const tick = (now) => {
    if (shown === null) shown = now;
    if (last !== null && document.visibilityState === "visible") {
      const gap = now - last;
      if (gap > 4) frame = Math.min(frame, gap);
      if (gap > 1.5 * frame) dropped += Math.round(gap / frame) - 1;
    }
    last = now;
    requestAnimationFrame(tick);
  };
  const begin = () => requestAnimationFrame(tick);
  (picture && picture.decode ? picture.decode() : Promise.resolve()).then(begin, begin);

  form.addEventListener("submit", (event) => {
    if (shown === null || event.defaultPrevented) return;
    form.elements.seconds.value = ((performance.now() - shown) / 1000).toFixed(4);
    form.elements.dropped.value = String(Math.min(dropped, 999999));
  });

  const buttons = [...form.querySelectorAll("button[data-key]")];
  const named = new Map(buttons.filter((b) => b.dataset.key).map((b) => [b.dataset.key, b]));
  if (buttons.length === 2) { named.set("f", buttons[0]); named.set("j", buttons[1]); }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const button = named.get(event.key.toLowerCase());
    if (button) { event.preventDefault(); form.requestSubmit(button); }
  });
})();
