/**
 * What a member does besides their roles. In an organization that has named no owner, as all that are older than duties, its admins are
 * its owners.
 */
export const dutiesOf = (
  { roles, duties }: { roles: readonly string[]; duties: readonly string[] },
  { ownerNamedAt }: { ownerNamedAt: Date | null },
): readonly string[] => (ownerNamedAt === null && roles.includes('admin') ? [...duties, 'owner'] : duties)
