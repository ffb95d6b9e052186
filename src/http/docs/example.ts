import type { OpenApiDocument, Schema } from './openapi-document.ts'

export const EXAMPLE_ID = '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e6f'

const FORMATS: Record<string, unknown> = {
  uuid: EXAMPLE_ID,
  'date-time': '2026-03-02T09:30:00.000Z',
  email: 'candidate@example.com',
  uri: 'https://example.com',
}

/** The schema's example, or one composed from its parts. Recursive schemas are not supported. */
export function exampleOf(document: OpenApiDocument, schema: Schema): unknown {
  if (schema.$ref !== undefined) return exampleOf(document, schemaAt(document, schema.$ref))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return exampleOf(document, choices[0] ?? {})
  const [declared] = [...(schema.examples ?? []), schema.default, ...(schema.enum ?? [])].filter((value) => value !== undefined)
  return declared ?? exampleOfType(document, schema)
}

function exampleOfType(document: OpenApiDocument, { type, properties = {}, items = {}, minimum, format = '' }: Schema): unknown {
  switch ([type].flat()[0]) {
    case 'object':
      return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(document, member)]))
    case 'array':
      return [exampleOf(document, items)]
    case 'integer':
    case 'number':
      return minimum ?? 1
    case 'boolean':
      return true
    default:
      return FORMATS[format] ?? ''
  }
}

const schemaAt = ({ components }: OpenApiDocument, ref: string): Schema =>
  components.schemas[ref.slice(ref.lastIndexOf('/') + 1)] ?? {}
