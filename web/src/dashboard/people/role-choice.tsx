// The choice of a role, each with its rights. An admin can't make anybody an owner.

import { useId } from "react";
import type { Role } from "../../../../server/src/wire/dashboard-contract.ts";
import { roleName, roleSentence, rolesInOrder } from "../session/roles.ts";

type RoleChoiceProps = {
  role: Role;
  ownRole: Role;
  error: string | null;
  onChange: (role: Role) => void;
};

export function RoleChoice({ role, ownRole, error, onChange }: RoleChoiceProps) {
  const id = useId();
  const offered = rolesInOrder.filter((each) => each !== "owner" || ownRole === "owner");
  return (
    <fieldset className="choices" aria-describedby={`${id}-problem`}>
      <legend>Role</legend>
      {offered.map((each) => (
        <label className="choice" key={each}>
          <input
            type="radio"
            name={id}
            checked={each === role}
            onChange={() => onChange(each)}
            aria-describedby={`${id}-${each}`}
          />
          <span>
            <span className="choice-name">{roleName[each]}</span>
            <span className="choice-hint" id={`${id}-${each}`}>
              {roleSentence[each]}
            </span>
          </span>
        </label>
      ))}
      <p className="field-error" id={`${id}-problem`} role="alert">
        {error}
      </p>
    </fieldset>
  );
}
