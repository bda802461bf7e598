// The part of a service worker's surroundings that ours uses. TypeScript knows either pages or workers, not both at once.

type Waits = { waitUntil(work: Promise<unknown>): void };

type Events = {
  install: Waits;
  activate: Waits;
  fetch: { request: Request; respondWith(answer: Promise<Response>): void };
  push: Waits & { data: { json(): unknown } | null };
  notificationclick: Waits & { notification: Notification };
  pushsubscriptionchange: Waits & {
    newSubscription?: PushSubscription | null;
    oldSubscription?: PushSubscription | null;
  };
};

export type PageWindow = { url: string; focus(): Promise<unknown> };

export type WorkerScope = {
  addEventListener<Name extends keyof Events>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): void;
  skipWaiting(): Promise<void>;
  clients: {
    claim(): Promise<void>;
    matchAll(options: { type: "window"; includeUncontrolled: true }): Promise<PageWindow[]>;
    openWindow(url: string): Promise<unknown>;
  };
  registration: ServiceWorkerRegistration;
  location: Location;
};
