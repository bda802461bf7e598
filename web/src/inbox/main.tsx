// Starts the inbox.

import { createRoot } from "react-dom/client";
import { nameProgram } from "../look/page-program.ts";
import { App } from "./app.tsx";
import { startApp } from "./push/this-browser.ts";
import "../look/tokens.css";
import "../review/review.css";
import "./inbox.css";

nameProgram(import.meta.url);
const root = document.getElementById("root");
if (root !== null) {
  root.replaceChildren();
  createRoot(root).render(<App />);
}
startApp();
