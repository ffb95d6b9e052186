/** Portal roles of a member. In an organization without a named owner its admins are owners. */
export const portalRolesOf = (
  { roles, portalRoles }: { roles: readonly string[]; portalRoles: readonly string[] },
  { ownerNamedAt }: { ownerNamedAt: Date | null },
): readonly string[] => (ownerNamedAt === null && roles.includes('admin') ? [...portalRoles, 'owner'] : portalRoles)
