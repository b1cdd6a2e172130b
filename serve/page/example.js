// A photo that is chosen or dropped on the page, to find those like it.
import { byId } from "./dom.js";

// onExample calls back with its file.
export function onExample(find) {
  const take = ([file]) => file && find(file);
  byId("example").addEventListener("change", ({ target }) => {
    const files = [...target.files];
    target.value = "";
    take(files);
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) {
      document.body.classList.remove("dropping");
    }
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    take(event.dataTransfer.files);
  });
}
