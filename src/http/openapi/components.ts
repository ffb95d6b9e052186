import { isDeepStrictEqual } from 'node:util'
import type { TObject } from '@sinclair/typebox'
import { NAME, OBJECT_INSTEAD, SHOWN_AS } from '../schema/schema-keywords.ts'
import { SUNSET } from './deprecation.ts'

export type Reference = { $ref: string }
type Section = 'schemas' | 'parameters' | 'requestBodies' | 'responses' | 'headers'

export type Components = {
  sections: Record<Section, Record<string, object>>
  /**
   * Makes a component of the value.
   *
   * @param name undefined: it stays where it is.
   * @returns what stands in its place.
   * @throws Error when another value has this name.
   */
  put: <Value extends object>(section: Section, name: string | undefined, value: Value) => Value | Reference
}

/** What several places of a document refer to, each once and by a name of its own. */
export function createComponents(): Components {
  const sections: Components['sections'] = { schemas: {}, parameters: {}, requestBodies: {}, responses: {}, headers: {} }
  return {
    sections,
    put(section, name, value) {
      if (name === undefined) return value
      const known = sections[section][name]
      if (known !== undefined && !isDeepStrictEqual(known, value)) throw new Error(`Two ${section} are called ${name}.`)
      sections[section][name] = value
      return { $ref: `#/components/${section}/${name}` }
    },
  }
}

/** A schema as documents show it: what has a name by reference, and nothing of our own keywords. */
export function publishSchema(schema: object, components: Components): object {
  const { [NAME]: name, [OBJECT_INSTEAD]: object, [SHOWN_AS]: shownAs, ...rest }: Keywords = schema
  if (shownAs) return publishSchema(shownAs, components)
  const isShown = (key: string) => key === SUNSET || !key.startsWith('x-')
  const shown = Object.entries(rest).flatMap(([key, value]) => (isShown(key) ? [[key, publish(value, components)]] : []))
  const own = components.put('schemas', name, Object.fromEntries(shown))
  return object ? { anyOf: [own, publishSchema(object, components)] } : own
}

type Keywords = { [NAME]?: string; [OBJECT_INSTEAD]?: object; [SHOWN_AS]?: object }

/**
 * A schema for documents: one of these objects, which the words that the property allows tell apart. Each has a name.
 *
 * @param name under which documents show it.
 */
export const oneOfTypes = (name: string, propertyName: string, schemas: TObject[]): object => {
  const mapping = schemas.flatMap(({ properties, [NAME]: each }) =>
    (properties[propertyName]!.enum as string[]).map((word) => [word, `#/components/schemas/${each}`]),
  )
  return { [NAME]: name, oneOf: schemas, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
}

function publish(value: unknown, components: Components): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map((item) => publish(item, components)) : publishSchema(value, components)
}

/** `list_tags`, `listTags` and `list-tags` as `ListTags`. */
export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|[^a-zA-Z0-9]+)(\w)/g, (_, letter: string) => letter.toUpperCase())
