/** Adds copy buttons to samples; pages also work without it. */
export const GUIDE_SCRIPT = `if (navigator.clipboard) for (const pre of document.querySelectorAll(".sample pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  pre.parentElement.append(button);
}
const pages = document.querySelector("nav.pages details");
const wide = matchMedia("(min-width: 60rem)");
const follow = () => { pages.open = wide.matches; };
wide.addEventListener("change", follow);
follow();
`;
