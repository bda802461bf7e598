// The list of keys, and the box that turns them off.

import { useEffect, useId, useRef } from "react";
import { inboxWords } from "../frame/inbox-words.ts";

type KeysDialogProps = {
  isUsed: boolean;
  onUse: (isUsed: boolean) => void;
  onClose: () => void;
};

export function KeysDialog({ isUsed, onUse, onClose }: KeysDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const { keyList } = inboxWords;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // Not the box: a press of the space bar would turn the keys off.
    heading.current?.focus();
  }, []);
  return (
    <dialog className="dialog dialog-keys" ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <div className="dialog-body">
        <h2 id={titleId} tabIndex={-1} ref={heading}>
          {keyList.title}
        </h2>
        <p className="quiet">{keyList.what}</p>
        <dl className="key-list">
          {keyList.keys.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <label className="tick">
          <input
            type="checkbox"
            checked={isUsed}
            onChange={(event) => onUse(event.currentTarget.checked)}
          />
          <span>{keyList.use}</span>
        </label>
      </div>
      <div className="dialog-buttons">
        <button type="button" className="button" onClick={() => dialog.current?.close()}>
          {keyList.close}
        </button>
      </div>
    </dialog>
  );
}
