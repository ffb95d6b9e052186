import type { IdpFault } from '../domain/ports/identity-provider.ts'

/** Invalid answer of a provider. */
export class ProviderFault extends Error {
  readonly fault: IdpFault
  constructor(fault: IdpFault) {
    super(fault.code)
    this.name = 'Fault'
    this.fault = fault
  }
}
