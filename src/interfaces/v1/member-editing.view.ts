import { Type } from '@sinclair/typebox'
import { MAX_NAME_LENGTH } from '../../domain/limits.ts'
import { MEMBER_ROLES } from '../../domain/members/members.ts'
import { Email, NonBlankText, StringEnum, Text } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { memberView } from './members.view.ts'

// Beyond v1.md: new members, and changes of members.

const name = (description: string) => Type.Optional(NonBlankText({ maxLength: MAX_NAME_LENGTH, description }))
const roles = (description: string) => Type.Array(StringEnum(MEMBER_ROLES), { maxItems: MEMBER_ROLES.length, description })

export const NewMemberBody = Type.Object(
  {
    email: Email('A link to join is mailed to it'),
    firstName: name('For a new member, who can change it on joining; an existing member keeps their own'),
    lastName: name('As `firstName`'),
    roles: roles('grader or client, or both, added to existing roles. Keys can’t grant the role admin (403)'),
    reactivate: Type.Optional(Type.Boolean({ default: false, description: 'Whether to reactivate a deactivated member' })),
  },
  {
    [NAME]: 'NewMember',
    examples: [{ email: 'ngozi.adeyemi@example.com', firstName: 'Ngozi', lastName: 'Adeyemi', roles: ['grader'] }],
  },
)

export const MemberChangeBody = Type.Object(
  {
    roles: Type.Optional(roles('grader, client, both, or none, replacing those; values of your own stay')),
    department: Type.Optional(Text({ maxLength: MAX_NAME_LENGTH })),
    active: Type.Optional(Type.Boolean({ description: 'false removes their access to the organization at once' })),
  },
  { [NAME]: 'MemberChange', minProperties: 1, examples: [{ roles: ['grader', 'client'] }] },
)

export const OneMember = Type.Object({ member: memberView.schema }, { [NAME]: 'OneMember', description: 'The member' })
