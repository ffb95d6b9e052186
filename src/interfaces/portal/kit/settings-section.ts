import { type Html, html } from '../../../html/html.ts'
import { type Form, seenField } from './forms.ts'
import { settingsPanel } from './layout.ts'

/** @property isFirst whether its button is the page's main one. @property more what stands below the form. */
type Section = { heading: string; about: string; fields: Html; isFirst?: boolean; more?: Html }

/**
 * A part of a page of settings with a form, and so a button, of its own: what another one has stays as it is.
 *
 * @param to.address where all forms of the page are sent. @param to.row what was read, whose last change goes along.
 */
export const settingsSection = (
  form: Form,
  { address, row }: { address: string; row: Parameters<typeof seenField>[1] },
  id: string,
  { heading, about, fields, isFirst = false, more }: Section,
): Html =>
  settingsPanel(
    id,
    heading,
    about,
    html`<form method="post" action="${address}">
${seenField(form, row)}
${fields}
<button class="${isFirst ? 'btn btn-primary' : 'btn'}" aria-label="${`Save: ${heading}`}">Save</button>
</form>${more}`,
  )
