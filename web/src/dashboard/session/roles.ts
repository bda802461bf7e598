// What the roles are called.

import type { Role } from "../../../../server/src/wire/dashboard-contract.ts";

export const roleName: Record<Role, string> = { owner: "Owner", admin: "Admin", viewer: "Viewer" };
