import { Type } from '@sinclair/typebox'
import { wholeMember } from '../../domain/members/members.ts'
import { DateTime, Email } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'

const { computed, view } = createViewBuilder(wholeMember)

/** v1.md, Member. */
export const memberView = view(
  {
    id: Type.String(),
    firstName: computed(Type.String(), ['user'], ({ user }) => user.firstName),
    lastName: computed(Type.String(), ['user'], ({ user }) => user.lastName),
    email: Email(),
    avatarUrl: computed(Type.String({ description: 'Empty when there is none' }), ['user'], ({ user }) => user.avatarUrl),
    roles: Type.Array(Type.String(), { description: 'admin, grader, client, or values of your own' }),
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
