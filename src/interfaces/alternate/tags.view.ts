import { Type } from '@sinclair/typebox'
import { wholeTag } from '../../domain/tags/tags.ts'
import { DateTime, HexColor, Nullable, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'
import { OrganizationView, Reference } from './nested.view.ts'

const { column, view } = createViewBuilder(wholeTag)

/** alternate.md, Tag. */
export const tagView = view(
  {
    id: Uuid(),
    name: Type.String(),
    color: HexColor('#RRGGBB'),
    organization: column(Reference(OrganizationView), 'organizationId'),
    created_by: column(Nullable(Type.String({ description: 'Identifier of the creating user' })), 'createdById'),
    created_at: DateTime(),
    updated_at: DateTime(),
    icon: Nullable(Type.String()),
  },
  { [NAME]: 'Tag' },
)
