import type { Prisma } from '../../generated/prisma/client.ts'
import { type FieldPolicy, showIn } from '../fields/field-policy.ts'

/** Erasing a member: test/domain/erasure/member-catalogue.ts. */
export const MEMBER_FIELDS: Record<Prisma.MemberScalarFieldEnum, FieldPolicy> = {
  id: showIn('v1', 'alternate', 'csv'),
  organizationId: showIn('alternate'),
  userId: showIn('alternate'),
  email: showIn('v1', 'csv'),
  roles: showIn('v1', 'alternate', 'csv'),
  portalRoles: showIn('csv'),
  status: showIn('v1', 'csv'),
  department: showIn('v1', 'csv'),
  canViewTranscription: showIn('alternate'),
  joinedAt: showIn('v1', 'csv'),
  createdAt: showIn('alternate', 'csv'),
  updatedAt: showIn('alternate', 'csv'),
  credentialId: showIn('csv'),
  activeSince: showIn(),
  invitedById: showIn(),
  signInException: showIn(),
  timeZone: showIn(),
  pageSize: showIn(),
  notices: showIn(),
  erasedAt: showIn(),
}
