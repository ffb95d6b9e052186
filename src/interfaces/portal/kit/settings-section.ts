import { type Html, html } from '../../../html/html.ts'
import { type Form, seenField } from './forms.ts'
import { settingsPanel } from './layout.ts'

/** @property isFirst true if its button is the page's main one. @property more content below the form. */
type Section = { heading: string; about: string; fields: Html; isFirst?: boolean; more?: Html }

/**
 * A section of a settings page with its own form and button, which leaves other sections' settings unchanged.
 *
 * @param to.address where all forms of the page are sent. @param to.row the stored settings, whose last change is sent along.
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
