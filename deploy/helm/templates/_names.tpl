{{- define "waygate.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}-waygate
{{- end }}

{{- define "waygate.labels" -}}
app.kubernetes.io/name: waygate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "waygate.secret" -}}
{{ .Values.existingSecret | default (include "waygate.name" .) }}
{{- end }}

{{- define "waygate.files" -}}
{{ .Values.files.existingClaim | default (printf "%s-files" (include "waygate.name" .)) }}
{{- end }}
