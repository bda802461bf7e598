// A row of choices with one chosen, such as the filter of a list.

type ChoiceRowProps<Value> = {
  label: string;
  choices: readonly { value: Value; word: string }[];
  chosen: Value;
  onChoose: (value: Value) => void;
};

export function ChoiceRow<Value>({ label, choices, chosen, onChoose }: ChoiceRowProps<Value>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be read as a form
    <div className="choice-row" role="group" aria-label={label}>
      {choices.map(({ value, word }) => (
        <button
          type="button"
          key={word}
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
        >
          {word}
        </button>
      ))}
    </div>
  );
}
