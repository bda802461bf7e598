// Starts the review page from the data inside its HTML.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./review.css";

const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <p>hello</p>
    </StrictMode>,
  );
