import { SaxesParser } from 'saxes'
import { UnreadableFile } from '../../tables/unreadable-file.ts'

/** @property name without a prefix. */
export type XmlNode = { name: string; line: number; attributes: Record<string, string>; children: (XmlNode | string)[] }

const MAX_DEPTH = 100
/** Elements that are in memory at the same time. */
const MAX_ELEMENTS = 100_000
const MAX_ATTRIBUTES = 100

/**
 * Reads an XML document. Elements have no namespaces, and only XML's own entities exist.
 *
 * @param onChild gets each child of the root, which is then dropped.
 * @returns the root.
 * @throws UnreadableFile `damagedXml` with the line, `doctype`, `tooHeavy`.
 */
export function readXml(text: string, onChild?: (child: XmlNode) => void): XmlNode {
  const parser = new SaxesParser()
  const openElements: XmlNode[] = []
  let root: XmlNode | undefined
  let [elements, attributesOfTag] = [0, 0]
  const refuse = () => new UnreadableFile('damagedXml', parser.line)
  const addText = (part: string) => void openElements.at(-1)?.children.push(part)
  parser.on('error', () => {
    throw refuse()
  })
  parser.on('doctype', () => {
    throw new UnreadableFile('doctype')
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('attribute', () => {
    if (++attributesOfTag > MAX_ATTRIBUTES) throw new UnreadableFile('tooHeavy')
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (openElements.length >= MAX_DEPTH || ++elements > MAX_ELEMENTS) throw new UnreadableFile('tooHeavy')
    attributesOfTag = 0
    const node = { name: localName(name), line: parser.line, attributes, children: [] }
    if (onChild === undefined || openElements.length !== 1) openElements.at(-1)?.children.push(node)
    openElements.push(node)
    root ??= node
  })
  parser.on('closetag', () => {
    const node = openElements.pop()
    if (onChild === undefined || openElements.length !== 1 || !node) return
    onChild(node)
    elements = 1
    root!.children = []
  })
  parser.write(text).close()
  if (!root) throw refuse()
  return root
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

export const isElement = (child: XmlNode | string): child is XmlNode => typeof child !== 'string'

export const childrenOf = ({ children }: XmlNode, ...names: string[]): XmlNode[] =>
  children.filter((child): child is XmlNode => isElement(child) && names.includes(child.name))

export const childOf = (node: XmlNode | undefined, name: string): XmlNode | undefined =>
  node?.children.find((child): child is XmlNode => isElement(child) && child.name === name)

/** All elements below a node with one of these names, in the order of the document. */
export const descendantsOf = (node: XmlNode, ...names: string[]): XmlNode[] =>
  node.children
    .filter(isElement)
    .flatMap((child) => [...(names.includes(child.name) ? [child] : []), ...descendantsOf(child, ...names)])

/** Text of a node without its elements. */
export const textOf = (node: XmlNode | undefined): string =>
  (node?.children ?? []).filter((child) => typeof child === 'string').join('')

export const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Content of a node as it is written. */
export const innerXml = ({ children }: XmlNode): string =>
  children.map((child) => (isElement(child) ? outerXml(child) : escapeXml(child))).join('')

function outerXml(node: XmlNode): string {
  const attributes = Object.entries(node.attributes).map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
  return `<${node.name}${attributes.join('')}>${innerXml(node)}</${node.name}>`
}
