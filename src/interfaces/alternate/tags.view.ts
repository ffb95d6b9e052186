import { type Static, Type } from '@sinclair/typebox'
import { type RowOf, showing } from '../../domain/lists/listing.ts'
import { wholeTag } from '../../domain/tags/tags.ts'
import { DateTime, HexColor, isoTime, OrNull, Uuid } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'
import { OrganizationView, Reference } from './nested.view.ts'

/** alternate.md, Tag. */
export const TagView = Type.Object(
  {
    id: Uuid(),
    name: Type.String(),
    color: HexColor('#RRGGBB'),
    organization: Reference(OrganizationView),
    created_by: OrNull(Type.String({ description: 'Identifier of the creating user' })),
    created_at: DateTime(),
    updated_at: DateTime(),
    icon: OrNull(Type.String()),
  },
  { [NAME]: 'Tag' },
)

/** What of a tag is shown. */
export const shownOfTag = showing(wholeTag, [
  'id',
  'name',
  'color',
  'organizationId',
  'createdById',
  'createdAt',
  'updatedAt',
  'icon',
])

export const presentTag = (tag: RowOf<typeof shownOfTag>): Static<typeof TagView> => ({
  id: tag.id,
  name: tag.name,
  color: tag.color,
  organization: tag.organizationId,
  created_by: tag.createdById,
  created_at: isoTime(tag.createdAt),
  updated_at: isoTime(tag.updatedAt),
  icon: tag.icon,
})
