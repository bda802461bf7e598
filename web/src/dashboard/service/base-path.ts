// Where the service lives below its host: the server writes it into the page, and every address begins with it.

/** Empty when the service has the whole host for itself. */
export const basePath = document.documentElement.dataset.base ?? "";
