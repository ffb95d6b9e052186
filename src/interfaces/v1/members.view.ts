import { type Static, Type } from '@sinclair/typebox'
import { type RowOf, showing } from '../../domain/lists/listing.ts'
import { wholeMember } from '../../domain/members/members.ts'
import { DateTime, Email, isoTime } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'

/** v1.md, Member. */
export const MemberView = Type.Object(
  {
    id: Type.String(),
    firstName: Type.String(),
    lastName: Type.String(),
    email: Email(),
    avatarUrl: Type.String({ description: 'Empty when there is none' }),
    roles: Type.Array(Type.String(), { description: "admin, grader, client, or words of the organization's own" }),
    status: Type.String({ description: 'active or inactive' }),
    department: Type.String({ description: 'Empty when there is none' }),
    joinedAt: DateTime(),
  },
  {
    [NAME]: 'Member',
    examples: [
      {
        id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e70',
        firstName: 'Maya',
        lastName: 'Okafor',
        email: 'maya.okafor@example.com',
        avatarUrl: '',
        roles: ['admin', 'grader'],
        status: 'active',
        department: 'Talent',
        joinedAt: '2026-01-15T08:00:00.000Z',
      },
    ],
  },
)

/** What is shown of a member. */
export const shownOfMember = showing(wholeMember, ['id', 'user', 'email', 'roles', 'status', 'department', 'joinedAt'])

export const presentMember = (member: RowOf<typeof shownOfMember>): Static<typeof MemberView> => ({
  id: member.id,
  firstName: member.user.firstName,
  lastName: member.user.lastName,
  email: member.email,
  avatarUrl: member.user.avatarUrl,
  roles: member.roles,
  status: member.status,
  department: member.department,
  joinedAt: isoTime(member.joinedAt),
})
