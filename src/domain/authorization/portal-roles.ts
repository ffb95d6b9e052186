/**
 * What a member does besides their roles. In an organization that has named no owner, as all that are older than portal roles, its admins are
 * its owners.
 */
export const portalRolesOf = (
  { roles, portalRoles }: { roles: readonly string[]; portalRoles: readonly string[] },
  { ownerNamedAt }: { ownerNamedAt: Date | null },
): readonly string[] => (ownerNamedAt === null && roles.includes('admin') ? [...portalRoles, 'owner'] : portalRoles)
