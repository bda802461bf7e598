// A field that searches while one types, with a button that clears it.

import { useRef } from "react";
import { useTyped } from "./use-typed.ts";

const pauseMs = 250;

type SearchFieldProps = { value: string; onSearch: (text: string) => void };

export function SearchField({ value, onSearch }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const { typed, setTyped, tell } = useTyped(value, {
    pauseMs,
    isTrimmed: true,
    onTyped: onSearch,
  });
  return (
    <search className="requests-search">
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d="M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10.4 10.4l3.1 3.1" />
      </svg>
      <input
        ref={input}
        className="field"
        type="text"
        inputMode="search"
        enterKeyHint="search"
        aria-label="Search requests"
        placeholder="Search words, people, ids"
        value={typed}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") tell(typed);
          if (event.key === "Escape") setTyped("");
        }}
      />
      {typed !== "" && (
        <button
          type="button"
          className="tool requests-clear"
          aria-label="Clear the search"
          onClick={() => {
            setTyped("");
            tell("");
            input.current?.focus();
          }}
        >
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d="M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4" />
          </svg>
        </button>
      )}
    </search>
  );
}
