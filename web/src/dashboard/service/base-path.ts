// The path of the service below its host. The server writes it into the page, and every address begins with it.

/** Empty when the service has the whole host for itself. */
export const basePath = document.documentElement.dataset.base ?? "";
