import { HttpError } from '../errors/failure.ts'

/** Far more fields than any page has. */
const MAX_FIELDS = 10_000

/**
 * Parses `application/x-www-form-urlencoded`. URLSearchParams takes quadratic time for fields without a value: two megabytes of `&a` would
 * block the service for minutes.
 *
 * @throws HttpError body_too_large.
 */
export function parseFields(body: string): URLSearchParams {
  refuseTooManyFields(body, '&')
  return new URLSearchParams(body)
}

/** @param separator between two fields. @throws HttpError body_too_large. */
export function refuseTooManyFields(body: string | Buffer, separator: string): void {
  let fields = 0
  for (let position = body.indexOf(separator); position >= 0; position = body.indexOf(separator, position + separator.length))
    if (++fields > MAX_FIELDS) throw new HttpError('body_too_large')
}
