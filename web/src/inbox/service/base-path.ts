// The addresses of the inbox. The server writes the path of the service below its host into the page.

/** Empty when the service has the whole host for itself. */
export const basePath = document.documentElement.dataset.base ?? "";

/** The page for signing in, which leads back to this place. */
export function signInAddress(): string {
  const next = location.pathname + location.search;
  return `${basePath}/app/sign-in?${new URLSearchParams({ next })}`;
}
