// The words about push messages in the inbox's settings.

export const pushWords = {
  title: "Notifications on this device",
  what: "Tells you how many requests wait, and nothing about them. You decide in the inbox.",
  unsupported: "This browser can’t show notifications from the inbox. Mail still reaches you.",
  installFirst:
    "On iPhone and iPad, add the inbox to your home screen first: tap Share, then Add to Home Screen. Open it from there, and turn notifications on here.",
  denied:
    "Notifications from this address are blocked. Allow them in your browser’s settings, then load this page again.",
  off: "Off in this browser.",
  on: "On in this browser.",
  turnOn: "Turn on",
  turnOff: "Turn off",
  turningOn: "Turning on …",
  turningOff: "Turning off …",
  notAllowed: "The browser didn’t allow notifications, so they stay off.",
  failed:
    "Notifications couldn’t be turned on: the browser’s push service didn’t answer. Try again later.",
  browsers: "Other browsers with notifications",
  otherBrowser: (since: string) => `Another browser, since ${since}`,
  remove: "Remove",
  removeNamed: (since: string) => `Remove the browser added ${since}`,
};
