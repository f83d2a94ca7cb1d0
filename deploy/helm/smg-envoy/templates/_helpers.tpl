{{- define "smg-envoy.labels" -}}
app.kubernetes.io/name: smg-envoy
{{- end }}

{{- define "smg-envoy.meta" -}}
name: smg-envoy
namespace: {{ .Release.Namespace }}
labels:
  {{- include "smg-envoy.labels" . | nindent 2 }}
{{- end }}

{{- define "smg-envoy.replicas" -}}
{{- if kindIs "invalid" .Values.replicas }}{{ ternary 2 1 (ne .Values.pinStore.url "") }}{{ else }}{{ .Values.replicas }}{{ end }}
{{- end }}

{{- /* Namespace of the worker pods; "*" for all. */ -}}
{{- define "smg-envoy.podNamespace" -}}
{{ .Values.discovery.namespace | default .Release.Namespace }}
{{- end }}

{{- /* The service's settings: the operator's, then what the pod and the gateway need. */ -}}
{{- define "smg-envoy.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $_ := set $config "shutdown_grace_period_secs" (int .Values.shutdownGracePeriodSecs) }}
{{- with .Values.pinStore }}
{{- if .url }}{{ $_ = set $config "pin_store" .url }}{{ end }}
{{- if and .url .passwordKey }}{{ $_ = set $config "pin_store_password_file" (printf "/etc/smg-envoy-pins/%s" .passwordKey) }}{{ end }}
{{- end }}
{{- if .Values.discovery.enabled }}
{{- $_ = set $config "service_discovery" true }}
{{- $_ = set $config "service_discovery_port" (int .Values.discovery.port) }}
{{- $selector := list }}
{{- range $key, $value := .Values.discovery.selector }}{{ $selector = append $selector (printf "%s=%s" $key $value) }}{{ end }}
{{- $_ = set $config "selector" $selector }}
{{- $namespace := include "smg-envoy.podNamespace" . }}
{{- if ne $namespace "*" }}{{ $_ = set $config "service_discovery_namespace" $namespace }}{{ end }}
{{- end }}
{{- if and (eq .Values.gateway.kind "envoy-gateway") (not (hasKey $config "destination_header")) }}
{{- $_ = set $config "destination_header" "x-gateway-destination-endpoint" }}
{{- end }}
{{- if and (hasPrefix "inference-pool" .Values.gateway.kind) (not (hasKey $config "error_style")) }}
{{- $_ = set $config "error_style" "epp" }}
{{- end }}
{{- $_ = set $config "grpc_host" "0.0.0.0" }}
{{- $_ = set $config "grpc_port" 9002 }}
{{- $_ = set $config "prometheus_host" "0.0.0.0" }}
{{- $_ = set $config "prometheus_port" 9004 }}
{{- $_ = set $config "log_json" true }}
{{- toYaml $config }}
{{- end }}
