// The secret that signs a workspace's callbacks, as the service tells it to owners and admins.

export type CallbackSecret = {
  secret: string;
  /** Only after a rotation: when the one before stops signing beside it. */
  oldSecretEndsAt?: string;
};
