// Starts the review page from the data inside its HTML.

import { createRoot } from "react-dom/client";
import type { ReviewPage } from "../../../server/src/wire/review-contract.ts";
import { nameProgram } from "../look/page-program.ts";
import { App } from "./app.tsx";
import "../look/tokens.css";
import "./review.css";

nameProgram(import.meta.url);
const root = document.getElementById("root");
const data = document.getElementById("review-data")?.textContent;
if (root !== null && typeof data === "string") {
  const page = JSON.parse(data) as ReviewPage;
  root.replaceChildren();
  createRoot(root).render(<App page={page} readAt={performance.now()} />);
}
