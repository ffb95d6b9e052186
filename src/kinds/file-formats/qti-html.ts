import { addLoss, FEEDBACK_LOST, type ReadState } from './rich-text.ts'
import { childrenOf, escapeXml, isElement, textOf, type XmlNode } from './xml.ts'

/** Elements that are left out, and the sentence that says so. */
const LEFT_OUT = new Map(
  Object.entries({
    rubricBlock: 'Instructions beside the question are not imported.',
    feedbackBlock: FEEDBACK_LOST,
    feedbackInline: FEEDBACK_LOST,
    stylesheet: '',
  }),
)

/** Content of an element as HTML. @param interaction is replaced by its prompt, or a blank within a text. */
export function toHtml(node: XmlNode, reading: ReadState, interaction?: XmlNode): string {
  return node.children
    .map((child) => {
      if (!isElement(child)) return escapeXml(child)
      if (child === interaction) return printInteraction(child, reading)
      const lost = LEFT_OUT.get(child.name)
      if (lost) addLoss(reading, lost)
      if (lost !== undefined) return ''
      return printElement(child, reading, interaction)
    })
    .join('')
}

function printElement(element: XmlNode, reading: ReadState, interaction: XmlNode | undefined): string {
  const { name, attributes } = element
  const { src = '', alt = '', data = '', type = '' } = attributes
  if (name === 'img') return `<img src="${escapeXml(src)}" alt="${escapeXml(alt)}">`
  if (name === 'object' && type.startsWith('image/'))
    return `<img src="${escapeXml(data)}" alt="${escapeXml(textOf(element).trim())}">`
  if (name === 'math') addLoss(reading, 'Formulas are taken as plain characters.')
  const content = toHtml(element, reading, interaction)
  return name === 'br' ? '<br>' : `<${name}>${content}</${name}>`
}

function printInteraction(interaction: XmlNode, reading: ReadState): string {
  if (interaction.name === 'textEntryInteraction' || interaction.name === 'inlineChoiceInteraction') return '_____'
  return childrenOf(interaction, 'prompt')
    .map((prompt) => `<div>${toHtml(prompt, reading)}</div>`)
    .join('')
}
