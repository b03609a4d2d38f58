Set-VM -AutomaticStopAction TurnOff -StaticMemory -VMName "db-1"
# The memory of 0000:3b:00.0 is not known: if the VM lacks resources, raise the sizes by hand.
# The memory of 10de:5e:1f.7 is not known: if the VM lacks resources, raise the sizes by hand.
# The memory of 0000:5f:00.0 is not known: if the VM lacks resources, raise the sizes by hand.
Add-VMAssignableDevice -LocationPath "PCIROOT(0)#PCI(1D00)#PCI(0000)" -VMName "db-1"
Add-VMAssignableDevice -LocationPath "PCIROOT(40)#PCI(0300)#PCI(0000)" -VMName "db-1"
Add-VMAssignableDevice -LocationPath "PCIROOT(1)#PCI(0100)#PCI(0000)" -VMName "db-1"
