// A value with a button that copies it to the letter.

import { useEffect, useRef, useState } from "react";
import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";

type CopyBoxProps = {
  label: string;
  text: string;
  /** The value is shown only once, and the box says so. */
  isSecret?: boolean;
};

const saidForMs = 2_000;

export function CopyBox({ label, text, isSecret = false }: CopyBoxProps) {
  const [isCopied, setCopied] = useState(false);
  const [isMarked, setMarked] = useState(false);
  const value = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), saidForMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    setMarked(false);
    // Without encryption pages have no clipboard. Then the text is selected, ready for the keyboard.
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      mark(value.current);
      setMarked(true);
    }
  };
  return (
    <div className={isSecret ? "copy-box copy-box-secret" : "copy-box"}>
      <div className="copy-head">
        <span className="copy-label">{label}</span>
        <Button isSmall aria-label={`Copy ${label}`} onClick={copy}>
          <Icon name={isCopied ? "check" : "copy"} />
          {isCopied ? "Copied" : "Copy"}
        </Button>
      </div>
      <pre ref={value} tabIndex={-1}>
        <code>
          <Visible text={text} isMultiLine />
        </code>
      </pre>
      {isSecret && (
        <p className="copy-once">
          <Icon name="alert" />
          You won’t see it again. Store it somewhere safe before you close this.
        </p>
      )}
      <span className="sr-only" role="status">
        {isCopied && `${label}: copied`}
        {isMarked && `${label}: marked, copy it with the keyboard`}
      </span>
    </div>
  );
}

function mark(element: HTMLElement | null): void {
  if (element === null) return;
  element.focus();
  getSelection()?.selectAllChildren(element);
}
