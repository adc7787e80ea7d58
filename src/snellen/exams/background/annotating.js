// Keys for what the form does without them: 1 2 3 answer, arrows say how sure, Enter saves, B goes back.
"use strict";
const form = document.getElementById("answer");
const levels = [...form.elements.level];
const sure = [...form.elements.sure];

document.querySelector(".keys").hidden = false;

function pick(radio) {
  if (radio) {
    radio.checked = true;
  }
}

function surer(step) {
  const at = sure.findIndex((radio) => radio.checked);
  const next = at < 0 ? (sure.length - 1) / 2 : Math.min(Math.max(at + step, 0), sure.length - 1);
  pick(sure[next]);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) {
    return;
  }
  const key = event.key;
  if (["1", "2", "3"].includes(key)) {
    pick(levels[Number(key) - 1]);
  } else if (key === "ArrowLeft" || key === "ArrowRight") {
    if (event.target.type === "radio") {
      return; // the browser moves within the group
    }
    surer(key === "ArrowRight" ? 1 : -1);
  } else if (key === "Enter" && !event.target.closest("a, button, summary")) {
    form.requestSubmit();
  } else if (key.toLowerCase() === "b") {
    const back = document.getElementById("back");
    if (back) {
      back.click();
    }
  } else {
    return;
  }
  event.preventDefault();
});

let sent = false;
form.addEventListener("submit", (event) => {
  if (sent) {
    event.preventDefault(); // a second click while the first is under way
  }
  sent = true;
});
window.addEventListener("pageshow", () => { sent = false; });
