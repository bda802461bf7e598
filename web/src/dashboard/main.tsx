// Starts the dashboard.

import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./router.tsx";
import { onSignedOut } from "./service/api.ts";
import { queryClient } from "./service/queries.ts";
import { leaveFor } from "./session/signing.ts";
import { PageCodeError } from "./shell/page-code.ts";
// The review page's styles come first: the dashboard shows a request in the same frames.
import "../look/tokens.css";
import "../review/review.css";
import "./dashboard.css";

// Dialogs lock the scrolling of the page with a style element, which needs the policy's nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
if (nonce !== undefined && nonce !== "") setNonce(nonce);

onSignedOut(() => {
  const address = leaveFor();
  if (address !== null) router.history.replace(address);
});

/** A page whose code didn't arrive says so itself, and is no fault of ours. */
function onCaughtError(error: unknown): void {
  if (!(error instanceof PageCodeError)) reportError(error);
}

const root = document.getElementById("root");
if (root !== null) {
  root.replaceChildren();
  createRoot(root, { onCaughtError }).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
