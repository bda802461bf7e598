// A button. While it is busy it keeps its size and its focus, and takes no second click.

import type { ComponentProps, MouseEvent } from "react";

export type ButtonProps = ComponentProps<"button"> & {
  variant?: "primary" | "danger";
  isBusy?: boolean;
  /** For rows of a list. */
  isSmall?: boolean;
};

export function Button({ variant, isBusy = false, isSmall = false, ...rest }: ButtonProps) {
  const { className, onClick, children, disabled = false, type = "button", ...props } = rest;
  const isOff = isBusy || disabled;
  // Not the browser's "disabled", which would take the focus from keyboard users.
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (isOff) event.preventDefault();
    else onClick?.(event);
  };
  const classes = [
    "button",
    variant === undefined ? "" : `button-${variant}`,
    isSmall ? "button-small" : "",
    className ?? "",
  ];
  return (
    <button
      {...props}
      type={type}
      className={classes.filter(Boolean).join(" ")}
      aria-disabled={isOff ? true : undefined}
      aria-busy={isBusy ? true : undefined}
      onClick={press}
    >
      {children}
      {isBusy && <span className="spinner" aria-hidden="true" />}
    </button>
  );
}
