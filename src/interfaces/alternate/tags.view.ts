import { Type } from '@sinclair/typebox'
import { wholeTag } from '../../domain/tags/tags.ts'
import { DateTime, HexColor, OrNull, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { fieldsOf } from '../../http/schema/view.ts'
import { OrganizationView, Reference } from './nested.view.ts'

const { column, view } = fieldsOf(wholeTag)

/** alternate.md, Tag. */
export const tagView = view(
  {
    id: Uuid(),
    name: Type.String(),
    color: HexColor('#RRGGBB'),
    organization: column(Reference(OrganizationView), 'organizationId'),
    created_by: column(OrNull(Type.String({ description: 'Identifier of the creating user' })), 'createdById'),
    created_at: DateTime(),
    updated_at: DateTime(),
    icon: OrNull(Type.String()),
  },
  { [NAME]: 'Tag' },
)
