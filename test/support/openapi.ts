import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Service } from './service.ts'

/** Finds the schema of an operation's answer; undefined when the document does not have one. `path` is as the document writes it. */
export type FindSchema = (method: string, path: string, status: number) => ValidateFunction | undefined

/** The schemas of answers in one interface's published document. */
export async function compileDocument(service: Service, name: 'v1' | 'alternate'): Promise<FindSchema> {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  ajv.addSchema((await service.http().get(`/docs/${name}/openapi.json`)).body, name)
  const escapePart = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1')
  return (method, path, status) => {
    const parts = ['paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema']
    return ajv.getSchema(`${name}#${encodeURI(parts.map((part) => `/${escapePart(part)}`).join(''))}`)
  }
}
