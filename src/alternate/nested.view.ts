import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Category, Instruction, Language } from '../domain/assessments.ts'
import type { User } from '../domain/members.ts'
import { Email, OrNull, Uuid } from '../http/field-types.ts'
import { OBJECT_INSTEAD } from '../http/openapi.ts'

// What has no endpoint of its own and is seen only where depth puts it.

export const OrganizationView = Type.Object({ id: Uuid(), name: Type.String() }, { $id: 'Organization' })
export const UserView = Type.Object(
  { id: Uuid(), first_name: Type.String(), last_name: Type.String(), email: Email() },
  { $id: 'User', description: "A person's account" },
)
export const InstructionView = Type.Object({ id: Uuid(), title: Type.String(), body: Type.String() }, { $id: 'Instruction' })
export const LanguageView = Type.Object({ id: Uuid(), code: Type.String(), name: Type.String() }, { $id: 'Language' })
export const CategoryView = Type.Object({ id: Uuid(), name: Type.String() }, { $id: 'Category' })

const marked = (schema: TSchema, name: string) => ({ ...schema, [OBJECT_INSTEAD]: name })

/** The id of another resource. */
export const Reference = (name: string) => Type.Unsafe<string>(marked(Uuid(), name))
export const ReferenceOrNull = (name: string) => Type.Unsafe<string | null>(marked(OrNull(Uuid()), name))
export const References = (name: string) => Type.Array(Reference(name))

export const presentOrganization = ({ id, name }: { id: string; name: string }): Static<typeof OrganizationView> => ({ id, name })

export const presentUser = (user: User): Static<typeof UserView> => ({
  id: user.id,
  first_name: user.firstName,
  last_name: user.lastName,
  email: user.email,
})

export const presentInstruction = ({ id, title, body }: Instruction): Static<typeof InstructionView> => ({ id, title, body })
export const presentLanguage = ({ id, code, name }: Language): Static<typeof LanguageView> => ({ id, code, name })
export const presentCategory = ({ id, name }: Category): Static<typeof CategoryView> => ({ id, name })
