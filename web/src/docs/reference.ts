// The API reference: Redoc, given our own OpenAPI document with the address at which this service is reached.

import "../look/tokens.css";
import "./docs.css";
import "./reference.css";
import { offerSearch } from "./search-window.ts";

type OpenApi = { servers?: { url: string; description?: string }[] };
type Renderer = {
  init(document: OpenApi, options: Record<string, unknown>, element: HTMLElement): unknown;
};

const { root = "..", renderer = "" } = document.documentElement.dataset;

offerSearch();
makeRoomForRenderer();
followColours();
void draw();

async function draw(): Promise<void> {
  const place = document.getElementById("reference");
  if (place === null) return;
  try {
    const [{ init }, answer] = await Promise.all([
      import(/* @vite-ignore */ new URL(renderer, document.baseURI).href) as Promise<Renderer>,
      fetch(`${root}/v1/openapi.json`),
    ]);
    const openApi: OpenApi = await answer.json();
    const url = new URL(root, document.baseURI).href.replace(/\/$/, "");
    openApi.servers = [{ url, description: "This service" }];
    place.replaceChildren();
    nameList(place);
    init(openApi, options, place);
  } catch {
    const wait = place.querySelector(".reference-wait");
    wait?.prepend("The reference could not be loaded. Load the page again. ");
  }
}

/** Labels its list of calls as navigation, so that screen reader users can jump to it. */
function nameList(place: HTMLElement): void {
  const observer = new MutationObserver(() => {
    const list = place.querySelector(".menu-content");
    if (list === null) return;
    observer.disconnect();
    list.setAttribute("role", "navigation");
    list.setAttribute("aria-label", "Calls");
  });
  observer.observe(place, { childList: true, subtree: true });
}

/** The height of our bar: the renderer keeps things in view below it. */
const barHeight = 56;

const options = {
  disableTelemetry: true,
  hideDownloadButtons: true,
  sortRequiredPropsFirst: true,
  schemasExpansionLevel: 1,
  jsonSamplesExpandLevel: 4,
  scrollYOffset: barHeight,
};

/** The renderer reads the system's colours once; this follows them. */
function followColours(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    document.documentElement.classList.toggle("dark", dark.matches);
    document.documentElement.classList.toggle("light", !dark.matches);
  };
  dark.addEventListener("change", follow);
}

/**
 * The page's policy lets no text become HTML unless it is allowed here; scripts in it are refused all the same. The
 * policy forbids workers, too, and the renderer, told that there are none, doesn't try.
 */
function makeRoomForRenderer(): void {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy("default", { createHTML: (text) => text });
  Object.defineProperty(window, "Worker", { value: undefined });
}

type TrustedTypes = {
  createPolicy(name: string, rules: { createHTML: (text: string) => string }): unknown;
};
