import { type Static, Type } from '@sinclair/typebox'
import { MAX_FILE_NAME_LENGTH, MAX_FILES } from '../../domain/limits.ts'

const closed = { additionalProperties: false }

export const FILE_GROUPS = ['document', 'picture', 'spreadsheet', 'presentation', 'archive'] as const
export type FileGroup = (typeof FILE_GROUPS)[number]

/** @property groups of types that are accepted. @property most number of files. */
export const SpecSchema = Type.Object(
  {
    groups: Type.Array(Type.Union(FILE_GROUPS.map((group) => Type.Literal(group))), {
      minItems: 1,
      maxItems: FILE_GROUPS.length,
      uniqueItems: true,
    }),
    most: Type.Integer({ minimum: 1, maximum: MAX_FILES }),
  },
  closed,
)

/** People grade files. */
export const KeySchema = Type.Object({}, closed)

/** Files that have arrived. @property type of its content. */
export const AnswerSchema = Type.Array(
  Type.Object(
    {
      id: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
      name: Type.String({ minLength: 1, maxLength: 2 * MAX_FILE_NAME_LENGTH }),
      bytes: Type.Integer({ minimum: 1 }),
      type: Type.String(),
    },
    closed,
  ),
  { maxItems: MAX_FILES },
)

export type Spec = Static<typeof SpecSchema>
export type Answer = Static<typeof AnswerSchema>
