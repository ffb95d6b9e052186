import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Category, Instruction, Language } from '../../domain/assessments/assessments.ts'
import type { User } from '../../domain/members/members.ts'
import { Email, Nullable, Uuid } from '../../http/schema/field-types.ts'
import { EXPANDED_OBJECT, NAME } from '../../http/schema/schema-keywords.ts'

// Resources without an endpoint of their own, which only `depth` shows.

export const OrganizationView = Type.Object({ id: Uuid(), name: Type.String() }, { [NAME]: 'Organization' })
export const UserView = Type.Object(
  { id: Uuid(), first_name: Type.String(), last_name: Type.String(), email: Email() },
  { [NAME]: 'User', description: "A person's account" },
)
export const InstructionView = Type.Object({ id: Uuid(), title: Type.String(), body: Type.String() }, { [NAME]: 'Instruction' })
export const LanguageView = Type.Object({ id: Uuid(), code: Type.String(), name: Type.String() }, { [NAME]: 'Language' })
export const CategoryView = Type.Object({ id: Uuid(), name: Type.String() }, { [NAME]: 'Category' })

const withObject = (schema: TSchema, object: TSchema) => ({ ...schema, [EXPANDED_OBJECT]: object })

/** Id of another resource. @param object schema of that resource. */
export const Reference = (object: TSchema) => Type.Unsafe<string>(withObject(Uuid(), object))
export const ReferenceOrNull = (object: TSchema) => Type.Unsafe<string | null>(withObject(Nullable(Uuid()), object))
export const References = (object: TSchema) => Type.Array(Reference(object))

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
