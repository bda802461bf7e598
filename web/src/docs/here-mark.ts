// Marks the section that is being read in the list of a page's sections.

export function markWhereOneIs(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".toc a")];
  const headings = links.flatMap(({ hash }) => {
    const heading = document.getElementById(decodeURIComponent(hash.slice(1)));
    return heading === null ? [] : [heading];
  });
  if (headings.length === 0) return;
  let isDue = false;
  const mark = () => {
    isDue = false;
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < readingLine);
    const here = isAtEnd && scrollY > 0 ? headings.at(-1) : passed.at(-1);
    for (const link of links) {
      if (here !== undefined && decodeURIComponent(link.hash.slice(1)) === here.id) {
        link.setAttribute("aria-current", "true");
      } else link.removeAttribute("aria-current");
    }
  };
  addEventListener(
    "scroll",
    () => {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(mark);
    },
    { passive: true },
  );
  mark();
}

/** A little below the bar: sections above it have begun. */
const readingLine = 120;
