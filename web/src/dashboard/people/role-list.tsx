// The rights of each role, in a sentence each.

import { roleName, roleSentence, rolesInOrder } from "../session/roles.ts";

export function RoleList() {
  return (
    <section className="section" aria-labelledby="roles-title">
      <h2 id="roles-title">What the roles may do</h2>
      <dl className="explained">
        {rolesInOrder.map((role) => (
          <div key={role}>
            <dt>{roleName[role]}</dt>
            <dd>{roleSentence[role]}</dd>
          </div>
        ))}
      </dl>
      <p className="quiet small">
        Approvers need no membership: the person an agent names in <code>notify</code> gets a mail
        with a link, and decides there.
      </p>
    </section>
  );
}
