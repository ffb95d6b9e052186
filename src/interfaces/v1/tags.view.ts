import { type Static, Type } from '@sinclair/typebox'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { MAX_TAG_DESCRIPTION_LENGTH, MAX_TAG_NAME_LENGTH } from '../../domain/limits.ts'
import { DEFAULT_COLOR, type NewTag, type TagChange, wholeTag } from '../../domain/tags/tags.ts'
import { DateTime, HexColor, NonBlankText, Text, Uuid } from '../../http/schema/field-types.ts'
import { NAME, TRIM } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'

const example = {
  id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e6f',
  name: 'Engineering',
  color: '#2563EB',
  description: 'Roles in product engineering',
  createdAt: '2026-03-02T09:30:00.000Z',
  updatedAt: '2026-03-02T09:30:00.000Z',
}

const { view } = createViewBuilder(wholeTag)

/** v1.md, Tag. */
export const tagView = view(
  {
    id: Uuid(),
    name: Type.String({ description: 'Unique within the organization, in upper or lower case' }),
    color: HexColor('#RRGGBB'),
    description: Type.String(),
    createdAt: DateTime(),
    updatedAt: DateTime(),
  },
  { [NAME]: 'Tag', examples: [example] },
)

const fields = {
  name: NonBlankText({ maxLength: MAX_TAG_NAME_LENGTH, [TRIM]: true, description: 'Unique within the organization' }),
  color: Type.Optional(HexColor(`#RRGGBB; ${DEFAULT_COLOR} when left out of a new tag`)),
  description: Type.Optional(Text({ maxLength: MAX_TAG_DESCRIPTION_LENGTH, description: 'Default: empty' })),
}

export const NewTagBody = Type.Object(fields, {
  [NAME]: 'NewTag',
  examples: [{ name: 'Engineering', color: '#2563EB', description: 'Roles in product engineering' }],
})

export const TagChangeBody = Type.Partial(Type.Object(fields), {
  [NAME]: 'TagChange',
  minProperties: 1,
  examples: [{ color: '#16A34A' }],
})

export const toNewTag = ({ name, color, description }: Static<typeof NewTagBody>): NewTag =>
  omitUndefined({ name, color, description })

export const toTagChange = ({ name, color, description }: Static<typeof TagChangeBody>): TagChange =>
  omitUndefined({ name, color, description })
