// The words about signing a decision with a passkey.

export const signingWords = {
  label: "Signature",
  needed: "Approving this request takes a passkey, and you have none here yet.",
  how: "Sign in to your inbox, add a passkey in Settings, then come back to this page. You can reject without one.",
  settings: "Add a passkey in your inbox",
  unsupported:
    "Approving this request takes a passkey, and this browser can’t use any. Open the request in another browser. You can reject it here.",
  blocked: "Approving takes a passkey.",
  nextStep: "You’ll confirm and sign in the next step.",
  offer: "Sign with your passkey",
  what: {
    approve:
      "Your passkey signs this request, your approval, everything this page shows, and exactly what will be executed.",
    reject: "Your passkey signs this request, your rejection, and everything this page shows.",
  },
  yes: {
    approve: "Sign and approve",
    approveChanged: "Sign and approve with changes",
    reject: "Sign and reject",
  },
  waiting: "Waiting for your passkey …",
  cancelled:
    "Nothing was signed, and nothing was sent. The passkey wasn’t used, or took too long. Try again when you’re ready.",
  failed:
    "This browser couldn’t use a passkey here. Nothing was signed, and nothing was sent. Try again, or open the request in another browser.",
} as const;
